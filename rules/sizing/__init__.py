"""How much memory a server needs: one model for rules and suggestions."""
