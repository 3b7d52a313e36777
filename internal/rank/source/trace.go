package source

// LeftOut is how many nodes the filters left out, each by the first that did in this order.
type LeftOut struct {
	Exclude int `json:"exclude"`
	Types   int `json:"type"`
	Times   int `json:"time"`
	Where   int `json:"where"`
	Marks   int `json:"marks"`
}

// Sum returns how many there are.
func (l LeftOut) Sum() int { return l.Exclude + l.Types + l.Times + l.Where + l.Marks }

func (l LeftOut) Minus(o LeftOut) LeftOut {
	return LeftOut{l.Exclude - o.Exclude, l.Types - o.Types, l.Times - o.Times, l.Where - o.Where,
		l.Marks - o.Marks}
}
