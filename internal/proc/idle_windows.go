package proc

// giveWay changes nothing here: its processes are short.
func giveWay(int) {}
