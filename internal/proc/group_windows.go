package proc

// groupAlive knows of the leader only.
func groupAlive(l *leader) bool {
	select {
	case <-l.ended:
		return false
	default:
		return true
	}
}
