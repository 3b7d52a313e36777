package text

import (
	"strings"
	"unicode/utf8"
)

// Syllables of Hangul.
const firstHangul, lastHangul = 0xAC00, 0xD7A3

// koreanEndings are the particles after Korean nouns and the endings of the verbs made of nouns, the longer ones first
// among those that end alike: a closed class, as stop words are.
var koreanEndings = strings.Fields(`
	에서부터 으로부터 에서는 에서도 에게서 에게는 에게도 으로는 으로도 이라는 이라고 까지는 까지도 부터는 한테서
	에서 에게 에는 에도 으로 로는 로도 까지 부터 보다 처럼 한테 께서 라는 라고 이나 이란 마다 조차 들은 들이 들을 들의 들에
	은 는 이 가 을 를 의 에 로 와 과 도 만 들 께
	하였습니다 되었습니다 했습니다 됐습니다 하십니까 입니까 합니까 합니다 됩니다 입니다 하나요 되나요 했나요 됐나요 인가요 한가요
	하려면 되려면 하면 되면 하는 되는 하고 되고 하여 되어 하다 되다 했다 됐다 한다 된다 이다`)

// stemHangul returns a Korean word without its last particle or ending, which leaves two syllables at least; a token of
// anything but Hangul stays as it is.
func stemHangul(token string) string {
	if !isHangul(token) {
		return token
	}
	best := token
	for _, end := range koreanEndings {
		rest, ok := strings.CutSuffix(token, end)
		if ok && len(rest) < len(best) && utf8.RuneCountInString(rest) >= 2 {
			best = rest
		}
	}
	return best
}

func isHangul(token string) bool {
	for _, c := range token {
		if c < firstHangul || c > lastHangul {
			return false
		}
	}
	return token != ""
}
