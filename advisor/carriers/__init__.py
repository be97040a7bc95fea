"""Options where people keep them beside option files: YAML of containers, Dockerfiles, systemd units, persisted values.

Each of those documents carries one or several sets of options; a set reads as lines whose places are the document's.
Nothing here is imported for an ordinary option file.
"""
