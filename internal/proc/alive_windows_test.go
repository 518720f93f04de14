package proc_test

func alive(int) bool { return false }
