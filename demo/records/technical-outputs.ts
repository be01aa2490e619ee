import type { DemoOutput } from './record-types.ts'

const review = 'eng.code-review'
const notes = 'eng.incident-notes'
const query = 'data.sql-assistant'
const chart = 'data.chart-explainer'

/** Outputs of the skills of Engineering and Data. */
export const technicalOutputs: readonly DemoOutput[] = [
  {
    ref: 'review-payments',
    title: 'Review: retry of card payments',
    skillId: review,
    text: 'A retry after a timeout can charge twice, because the idempotency key is made per attempt. Make it per order. Two smaller remarks on names.',
    related: ['model-evaluation'],
  },
  {
    ref: 'review-refund-amount',
    title: 'Review: read refund amounts as objects',
    skillId: review,
    text: 'The fix reads minor units and currency. It still rounds before it adds; add first. A test for amounts in yen is missing.',
    related: ['refund-ledger', 'refund-incident'],
  },
  {
    ref: 'review-ledger-timeout',
    title: 'Review: time limit of the refund ledger',
    skillId: review,
    text: 'The limit of 30 seconds is longer than the 20 seconds that the skill may take, so each slow answer becomes a failure. Use 5 seconds and one retry.',
    related: ['refund-ledger', 'review-refund-amount'],
  },
  {
    ref: 'review-search',
    title: 'Review: search by size and colour',
    skillId: review,
    text: 'The filter runs after the page is cut, so pages can be empty. Filter first. The index covers both columns.',
    related: ['warehouse-schema'],
  },
  {
    ref: 'review-migration',
    title: 'Review: migration of the returns table',
    skillId: review,
    text: 'Adding the column with a default rewrites 40 million rows under a lock. Add it empty, fill it in parts, then set the default.',
    related: ['warehouse-schema', 'checkout-outage'],
  },
  {
    ref: 'review-forwarder',
    title: 'Review: price table of the forwarder',
    skillId: review,
    text: 'Prices are compiled in, so a new price needs a release. Read them from the Hub once an hour, and keep the last table for outages.',
    related: ['sender-prices'],
  },
  {
    ref: 'notes-checkout',
    title: 'Incident notes: slow checkout',
    skillId: notes,
    text: '10:12 a migration drops an index. 10:19 first alert. 10:31 cause found. 10:47 the index is being built. 10:59 checkout is normal again.',
    related: ['checkout-outage', 'incident-runbook'],
  },
  {
    ref: 'notes-checkout-actions',
    title: 'Actions after the slow checkout',
    skillId: notes,
    text: 'Second reviewer for migrations; alert at 2 seconds instead of 5; a list of indexes that checkout needs, checked by a test.',
    related: ['notes-checkout'],
  },
  {
    ref: 'notes-refund',
    title: 'Incident notes: refund checks fail',
    skillId: notes,
    text: '07:00 rollout of 3.0.0. 07:40 first reports. 08:15 both errors known. 09:30 agents check by hand. Open: time limit of the ledger, amount field.',
    related: ['refund-incident', 'incident-runbook'],
  },
  {
    ref: 'notes-search',
    title: 'Incident notes: empty search results',
    skillId: notes,
    text: '14 minutes without results for “rain jacket” after a synonym list was loaded empty. The list is now refused if it has fewer than 500 entries.',
    related: ['incident-runbook'],
  },
  {
    ref: 'query-returns',
    title: 'Query: returns by reason and week',
    skillId: query,
    text: "select date_trunc('week', received_at), reason_code, count(*) … group by 1, 2. Reads one year in four seconds.",
    related: ['warehouse-schema'],
  },
  {
    ref: 'query-late-returns',
    title: 'Query: returns missing at 06:00',
    skillId: query,
    text: 'On 17 of the last 30 mornings between 40 and 310 returns of the day before were not loaded at 06:00.',
    related: ['query-returns', 'warehouse-schema'],
  },
  {
    ref: 'query-tarn',
    title: 'Query: orders of Tarn Valley Guides',
    skillId: query,
    text: '214 orders in nine years, $311,000 in all. 92 returns of rope sets this autumn, none in the years before.',
    related: ['claim-letter', 'warehouse-schema'],
  },
  {
    ref: 'query-baskets',
    title: 'Query: baskets abandoned during the outage',
    skillId: query,
    text: '212 baskets with $38,900 were abandoned in 47 minutes; 64 of the customers ordered later the same day.',
    related: ['checkout-outage'],
  },
  {
    ref: 'chart-returns',
    title: 'Explanation: returns by reason',
    skillId: chart,
    text: 'Returns for size fell from 44 to 36 percent since the size guide was changed in September. Other reasons are steady.',
    related: ['query-returns'],
  },
  {
    ref: 'chart-sizes',
    title: 'Explanation: sizes sold and returned',
    skillId: chart,
    text: 'Boots in half sizes are returned half as often as full sizes. The difference is the same in all countries.',
    related: ['chart-returns'],
  },
]
