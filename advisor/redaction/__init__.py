"""Remove secrets from texts and facts, and make foreign text harmless."""
