package extract

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

func TestGivenName(t *testing.T) {
	for full, want := range map[string]string{
		"Caroline Smith": "caroline", "Vincent van Gogh": "vincent", "Anna-Lena O'Hara": "anna-lena",
		"J. R. Tolkien": "j.", "Élodie Durand": Fold("Élodie"), "Caroline": "", "": "", "Caroline smith": "",
		"caroline Smith": "", "Kafka Cluster": "", "Apple Watch": "", "Galaxy Tablet": "", "Google Maps": "", "May Release": "", "Team Caroline": "", "Server 5": "",
		"A B C D E": "", "van Gogh": "", "Caroline  Smith": "caroline", "Caroline Smith2": "",
	} {
		must.Equal(t, GivenName(full), want, full)
	}
	for word, want := range map[string]string{
		"Caroline": "caroline", "caroline": "caroline", "Kafka": "", "Server": "", "Apple": "", "Caroline Smith": "",
		"": "", "Caro5": "", "x@y": "",
	} {
		must.Equal(t, FirstName(word), want, word)
	}
}
