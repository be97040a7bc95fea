"""Values and small helpers that every part of mycnf shares; standard library only."""
