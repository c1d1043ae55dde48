"""From rows to what a loop works on."""
