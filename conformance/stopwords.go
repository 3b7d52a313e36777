package main

// stopWords is the list of clause 6.8.
const stopWords = `
	a about after again all am an and any are aren't as at be because been before being
	between both but by can't cannot could could've couldn't did didn't do does doesn't doing
	don't during each for from had hadn't has hasn't have haven't having he he'd he'll he's
	her here's hers herself him himself his how how's i i'd i'll i'm i've if in into is isn't
	it it'd it'll it's its itself let's me my myself no nor not of on or our ours ourselves
	she she'd she'll she's should should've shouldn't so some such than that that's the their
	theirs them themselves then there there's these they they'd they'll they're they've this
	those through to too until very was wasn't we we'd we'll we're we've were weren't what
	what's when where which while who who's whom whose why with won't would would've wouldn't
	you you'd you'll you're you've your yours yourself yourselves
`
