"""The same visible work by us and by what else keeps conversations in a file, each in its documented way."""
