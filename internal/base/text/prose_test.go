package text

// prose is ordinary English, about 700 bytes a copy.
const prose = `The keeper of the lighthouse had written down the weather every morning for thirty
years. Nobody had asked him to, and when the ministry finally replaced the lamp with an automatic
one, the inspector who came to collect the keys was surprised to find forty-one notebooks stacked
beside the door. "They're yours as well," said the keeper. Storms, fog, the colour of the water at
six o'clock, the ships that passed and those that didn't: all of it was there. Years later two
students measured how early the herring had arrived each spring, and discovered that the sea had
been warming long before any instrument recorded it. The archive is consulted by 200 scientists
every year; it costs $1,250.50 to maintain.
`
