package verb

import (
	"context"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

type followingKey struct{}

// Follow returns a context in which HEAD is as f says; nil means the stored HEAD. A Host passes it to the
// function given to Open.
func Follow(ctx context.Context, f *operation.Following) context.Context {
	if f == nil {
		return ctx
	}
	return core.Follow(context.WithValue(ctx, followingKey{}, f), coreOf(f))
}

func coreOf(f *operation.Following) *core.Following {
	return &core.Following{Branch: f.Branch, From: f.From, ReadOnly: f.ReadOnly, Unknown: f.Unknown}
}

// MayWrite returns why nothing is written to the branch that f is on. f may be nil.
func MayWrite(f *operation.Following) error {
	if f == nil {
		return nil
	}
	return coreOf(f).MayWrite()
}

// FollowedBy returns what Follow put into a context, nil for nothing.
func FollowedBy(ctx context.Context) *operation.Following {
	f, _ := ctx.Value(followingKey{}).(*operation.Following)
	return f
}

// mayWrite refuses a write to the branch that HEAD is on while that is followed and not to be written.
func (s *Service) mayWrite(ctx context.Context, req any) error {
	err := core.FollowingOf(ctx).MayWrite()
	if err == nil || s.Commit.Branch != "" || s.Spec.EffectOf(req) == Reads || s.Spec.derives(req) {
		return nil
	}
	for _, field := range s.Spec.Fields() {
		if field.Name == "branch" {
			return err
		}
	}
	return nil
}
