"""The screens of the app, one module each; a screen is imported when it is first shown."""
