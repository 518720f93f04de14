package agents

func add(a, b Spent) Spent {
	return Spent{
		USD: a.USD + b.USD, Input: a.Input + b.Input, Output: a.Output + b.Output,
		CacheRead: a.CacheRead + b.CacheRead, CacheWrite: a.CacheWrite + b.CacheWrite,
	}
}

// less takes away what was used up before. When there was more of something before, the count has begun anew, and
// nothing is taken away.
func less(a, before Spent) Spent {
	if before.USD > a.USD+1e-9 || before.Input > a.Input || before.Output > a.Output || before.CacheRead > a.CacheRead ||
		before.CacheWrite > a.CacheWrite {
		return a
	}
	return Spent{
		USD: max(0, a.USD-before.USD), Input: a.Input - before.Input, Output: a.Output - before.Output,
		CacheRead: a.CacheRead - before.CacheRead, CacheWrite: a.CacheWrite - before.CacheWrite,
	}
}
