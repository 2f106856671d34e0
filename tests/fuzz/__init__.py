"""Fuzzing: random domains and damaged inputs against judges that share no code with what they judge."""
