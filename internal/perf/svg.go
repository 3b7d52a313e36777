package perf

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The size of a chart and of what is around its plot, in pixels.
const (
	chartWidth  = 760
	plotHeight  = 320
	marginLeft  = 76
	marginRight = 20
	marginTop   = 40
	axisHeight  = 44
	legendRow   = 20
	dotRadius   = 3
)

// palette are colours that people who see few of them can tell apart (Okabe and Ito); dashes tell
// apart what comes after.
var (
	palette = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"}
	dashes  = []string{"", "6 3", "2 3"}
)

// point is one of a curve; both are above 0.
type point struct{ x, y float64 }

// curve is one line of a chart.
type curve struct {
	name   string
	points []point
}

// chart has logarithmic axes, so that what grows in proportion is a straight line of one slope.
type chart struct {
	title, xName string
	yText        func(float64) string // of a tick
	curves       []curve
}

// span is the range of an axis.
type span struct{ low, high float64 }

// at is where a value lies, from 0 to 1.
func (s span) at(v float64) float64 {
	return math.Log(v/s.low) / math.Log(s.high/s.low)
}

// decades returns the range of powers of ten around all values.
func decades(curves []curve, of func(point) float64) span {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		for _, p := range c.points {
			low, high = min(low, of(p)), max(high, of(p))
		}
	}
	s := span{math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))}
	if s.low == s.high {
		s.high *= 10
	}
	return s
}

// svg draws the chart. There is at least one point.
func (c *chart) svg() string {
	var b strings.Builder
	height := marginTop + plotHeight + axisHeight + legendRow*(len(c.curves)+1)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" `+
		`font-family="sans-serif" font-size="12" role="img">`+"\n", chartWidth, height, chartWidth,
		height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(c.title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", chartWidth, height)
	fmt.Fprintf(&b, `<text x="%d" y="24" font-size="15" font-weight="bold">%s</text>`+"\n", marginLeft,
		html.EscapeString(c.title))
	xs := decades(c.curves, func(p point) float64 { return p.x })
	ys := decades(c.curves, func(p point) float64 { return p.y })
	c.axes(&b, xs, ys)
	for i, line := range c.curves {
		c.line(&b, i, line, xs, ys)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func xPixel(s span, v float64) float64 {
	return marginLeft + s.at(v)*(chartWidth-marginLeft-marginRight)
}

func yPixel(s span, v float64) float64 { return marginTop + (1-s.at(v))*plotHeight }

// axes draws a grid of powers of ten.
func (c *chart) axes(b *strings.Builder, xs, ys span) {
	const bottom = marginTop + plotHeight
	for v := xs.low; v <= xs.high*1.001; v *= 10 {
		x := xPixel(xs, v)
		fmt.Fprintf(b, `<path d="M%.1f %dV%d" stroke="#dddddd"/>`+"\n", x, marginTop, bottom)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x, bottom+16,
			grouped(int64(math.Round(v))))
	}
	for v := ys.low; v <= ys.high*1.001; v *= 10 {
		y := yPixel(ys, v)
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#dddddd"/>`+"\n", marginLeft, y,
			chartWidth-marginRight)
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", marginLeft-6, y+4,
			html.EscapeString(c.yText(v)))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n",
		(marginLeft+chartWidth-marginRight)/2, bottom+34, html.EscapeString(c.xName))
}

// line draws a curve, with a dot for each point, and its line of the legend.
func (c *chart) line(b *strings.Builder, i int, line curve, xs, ys span) {
	colour := palette[i%len(palette)]
	dash := dashes[i/len(palette)%len(dashes)]
	var path strings.Builder
	for j, p := range line.points {
		command := "L"
		if j == 0 {
			command = "M"
		}
		x, y := xPixel(xs, p.x), yPixel(ys, p.y)
		fmt.Fprintf(&path, "%s%.1f %.1f", command, x, y)
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%d" fill="%s"/>`+"\n", x, y, dotRadius, colour)
	}
	stroke := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"`, colour, dash)
	if dash == "" {
		stroke = fmt.Sprintf(`fill="none" stroke="%s" stroke-width="2"`, colour)
	}
	fmt.Fprintf(b, `<path d="%s" %s/>`+"\n", path.String(), stroke)
	y := marginTop + plotHeight + axisHeight + legendRow*i + 12
	fmt.Fprintf(b, `<path d="M%d %dh28" %s/>`+"\n", marginLeft, y, stroke)
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", marginLeft+36, y+4,
		html.EscapeString(line.name))
}
