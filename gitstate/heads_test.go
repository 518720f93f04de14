package gitstate

import (
	"context"
	"errors"
	"testing"
)

// TestHoldsOfTheRepository: of two work trees that move to one branch at the same time, only one gets there, and of two
// that are planned at the same time, only one finds a name free.
func TestHoldsOfTheRepository(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(r *Repo, ctx context.Context) (func(), error){
		"heads": func(r *Repo, ctx context.Context) (func(), error) { return r.Refs.HoldHeads(ctx, "refs/heads/main") },
		"plans": func(r *Repo, ctx context.Context) (func(), error) { return r.Refs.HoldPlans(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			ctx, cancel := context.WithCancel(context.Background())
			release, err := hold(r.Repo, ctx)
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if _, err := hold(r.Repo, ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("it is held twice: %v", err)
			}
			release()
			release, err = hold(r.Repo, context.Background())
			if err != nil {
				t.Fatal(err)
			}
			release()
		})
	}
}
