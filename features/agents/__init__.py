"""Agents: people make, share and choose prompts with tools and models of their own."""
