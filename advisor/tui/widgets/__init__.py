"""Header and footer of the app."""
