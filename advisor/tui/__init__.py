"""The terminal app: an audit that one walks through, fed by the same engine as the reports; it only ever reads."""
