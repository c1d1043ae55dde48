"""Export and import: a chat as a file, chats of other products, and everything that an account holds."""
