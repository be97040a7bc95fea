"""What an audit prints: as text, as a ticket, as JSON and as metrics."""
