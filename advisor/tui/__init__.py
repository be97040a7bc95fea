"""The terminal app: browse an audit made by the same engine as the reports; read-only."""
