"""Options outside option files: YAML of containers, Dockerfiles, systemd units, persisted variables.

Such a document contains one or several option sets; a set is read as lines with positions in the document. Nothing here
is imported for an ordinary option file.
"""
