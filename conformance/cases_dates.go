package main

import "strings"

// dateTexts are texts with dates, a line each.
var dateTexts = map[string]string{
	"calendar": `in May 2023
May 7, 2023
the 7th of May, 2023
2023-05-07
2023-05
2023/5/7
2023.05.07
7.5.2023
in 2023
2023
in 1899
2023年5月7日
2023年5月份
2023年
二零二三年五月七日
二〇二四年二月二十九日
二十三十年五月
２０２３年５月７日
Q2 2023
second quarter of 2023
2nd quarter of 2023
2023-Q2
2023年第二季度
summer of 2023
winter 2022
7. Mai 2023
7 août 2021
7 de mayo de 2023
Février 2022
2022–2023`,
	"expressions": `between March and May 2023
between November and February 2023
between May 2024 and January 2022
from 2022 to 2023
March to May 2023
between May 1 and May 8 2023
since 2024
since May 2023
before June 2023
after 3 May 2023
until May 2023
by 7 May 2023
从2023年3月到5月
2024年以来
2023年5月之前
2023年5月7日后
the week before May 8, 2023
two weeks before 2023-05-14
3 months after May 2023
a quarter after 2022-12-31
2 years before 2024-02-29
last weekend before 2023-05-09
the weekend before 2023-05-07
2 weekends before 2023-05-09
weekend after 2023-05-06
two weekends after 2023-04-30
the Monday before May 2, 2023
Monday after 2023-04-30
day before yesterday
2023-02-30
Feb 29, 2024
Feb 29, 2023`,
	"now": `on February 29
on May 7
in May
5月7日
May 7, then June 2023
June 2023, then May 7
Feb 29 and May 2023
May 5 or may not
today
yesterday
last night
tomorrow
last week
this week
next week
last weekend
this weekend
last month
last quarter
next quarter
last year
next year
3 days ago
two weeks ago
2 weekends ago
a month ago
11 quarters ago
three years ago
couple of years ago
in the last 7 days
last 6 months
past week
the past 3 years
last May
this May
next May
last November
last summer
this winter
next spring
last Tuesday
last Sunday
this Tuesday
next Sunday
on Sunday
since last Tuesday
from 2024 until yesterday`,
	"chinese": `今天
昨天
前天
大前天
后天
上周
上上个星期
这周
下个礼拜
上周末
上周日
周三
上个月
本月
下月
上季度
去年
前年
明年
三天前
两周前
六个月之前
3年以前
最近七天
过去2个星期
過去三個月
近三年 最近三年
先週
来月
昨年`,
	"asking": `what happened on May 7, 2023?
please tell me everything that happened in May 2023!
2023年5月7日我们做了什么事？
what's new since 2024
what happened in 1950
1950-01-01 1951-01-01 1952-01-01 1953-01-01 1954-01-01 1955-01-01 1956-01-01 1957-01-01 2023-05-07
2023-05-07 or 7 May 2023
May 2023 and February 2022
2023-0` + "\u00ad" + `5-07
٢٠٢٣-05-07
1 January 1000
in 9999, 9999-12-31
after 9999-12-31`,
}

// dates adds a case of what is read in some texts.
func (s *suite) dates(name, title string, texts []string, now *int64) {
	in := obj{"texts": texts}
	if now != nil {
		in["now"] = *now
	}
	list := []any{}
	for _, text := range texts {
		q := newRequest(text)
		q.now = now
		d := q.dates()
		times, seen := []any{}, map[[5]int64]bool{}
		for _, a := range d.asked {
			t := obj{"length": a.length}
			key := [5]int64{a.length}
			if a.from != nil {
				t["from"], key[1], key[2] = *a.from, 1, *a.from
			}
			if a.to != nil {
				t["to"], key[3], key[4] = *a.to, 1, *a.to
			}
			if !seen[key] {
				times = append(times, t)
			}
			seen[key] = true
		}
		list = append(list, obj{"times": times, "bare": d.bareText, "fromNow": d.fromNow,
			"unread": d.unread})
	}
	s.add("6.11", "dates", name, title, in, obj{"read": list})
}

// dateWords are what random texts are made of.
const dateWords = "2023 2024 1999 1000 5 12 31 29 02 7 1 day days week weeks weekend month quarter year years " +
	"May february Mar december janvier Monday sunday summer winter second of the a two few couple " +
	"q 3 - - / . , in on since before after until by between and from to last next this past ago " +
	"today yesterday tomorrow night th 年 月 日 天 周 星 期 末 上 下 个 前 后 去 今 昨 本 三 十 二 〇 季 度 以 来 起 之 " +
	"最 近 过 第 到 从 what x 2023-05-07 ? '"

// randomDates are texts of random words.
func randomDates(n int) []string {
	words := strings.Fields(dateWords)
	state := uint64(20230507)
	next := func(below int) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(state >> 33 % uint64(below))
	}
	var out []string
	for range n {
		text := ""
		for k := 2 + next(9); k > 0; k-- {
			text += words[next(len(words))]
			if next(4) > 0 {
				text += " "
			}
		}
		out = append(out, text)
	}
	return out
}
