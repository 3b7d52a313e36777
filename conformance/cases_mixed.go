package main

// mixed is a memory of texts in several scripts.
var mixed = batchText{
	`{"node":{"key":"zh1","type":"Note","summary":"张伟负责计费服务 billing-api 的部署"}}`,
	`{"node":{"key":"zh2","type":"Note","summary":"北京办公室的会议室在三楼"}}`,
	`{"node":{"key":"zh3","type":"Note","summary":"白猫坐在窗台上，黑猫不在"}}`,
	`{"node":{"key":"zh4","type":"Note","summary":"水","content":"水是生命之源"}}`,
	`{"node":{"key":"ja1","type":"Note","summary":"東京オフィスのサーバーは停止中です。担当は田中さん。"}}`,
	`{"node":{"key":"ja2","type":"Note","summary":"半角ｶﾀｶﾅ ｻｰﾊﾞｰ ＡＰＩ　２０２６"}}`,
	`{"node":{"key":"th1","type":"Note","summary":"ห้องประชุมอยู่ที่ชั้นสาม Bangkok office"}}`,
	`{"node":{"key":"ko1","type":"Note","summary":"서울 사무실의 서버를 재시작했다"}}`,
	`{"node":{"key":"en1","type":"Note","summary":"The billing API runs in the Tokyo office on ` +
		`port 8080","props":{"地":"三"}}}`,
}

func mixedCases(s *suite) {
	for _, c := range []struct{ clause, name, title, text string }{
		{"6.6", "zh-en", "Chinese with an English word", "谁负责 billing 的部署"},
		{"6.6", "ja-en", "Japanese with an English word", "東京のserverはどこ"},
		{"6.6", "th-en", "Thai with an English word", "ห้องประชุม office"},
		{"6.6", "four", "four scripts", "Tokyo オフィス 会议室 ชั้น"},
		{"6.4", "ko", "Hangul words are whole", "서버를 Tokyo 서버"},
		{"6.2", "wide", "full-width letters and digits", "８０８０ ＰＯＲＴ ａｐｉ"},
		{"6.2", "narrow", "half-width kana and voicing marks", "カタカナ ｻｰﾊﾞｰ"},
		{"7.1", "han-one", "one character, alone and in longer runs", "水"},
		{"7.1", "han-one-within", "one character in the middle and at the end of runs", "猫"},
		{"7.1", "han-one-props", "one character in several nodes", "三"},
		{"7.1", "han-two-alone", "two characters apart", "猫 窗"},
		{"7.1", "han-one-en", "one character and an English word", "水 billing"},
		{"7.1", "han-question", "a longer run asks for its bigrams alone", "猫水"},
		{"7.1", "kana-one", "one kana finds no longer run", "の"},
		{"7.1", "han-title", "a title of one character", "水 の api"},
		{"9.10", "spelling", "a misspelt word beside Chinese", "张伟 bangkkok"},
	} {
		q := everything(c.text)
		if c.name == "han-title" {
			q.expand = 3
		}
		s.retrieval(c.clause, "score", "mixed-"+c.name, c.title, q, false, mixed)
	}
	c := built(mixed).collect()
	s.add("7.1", "stats", "mixed", "units of runs of Han are in df and in no length",
		obj{"author": "erin", "batches": []any{obj{"time": t0, "lines": mixed}}},
		c.stats())
}
