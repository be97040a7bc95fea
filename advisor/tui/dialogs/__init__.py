"""Dialogs of the app: connect, start a probe, help, prompts."""
