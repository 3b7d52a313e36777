package dense

import "context"

func exact(rows, dims, shortlist int) bool                                       { return true }
func (x *Index) shortlist(ctx context.Context, g *group, s *search, n int) error { return nil }
