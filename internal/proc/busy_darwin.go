package proc

// effortsOf knows nothing here: a run that is silent for long has to change files to show that it works.
func effortsOf(*leader, string) map[int]effort { return nil }
