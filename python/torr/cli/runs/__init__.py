"""`torr runs …`: the kept runs, one file a verb."""
