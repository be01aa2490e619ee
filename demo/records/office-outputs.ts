import type { DemoOutput } from './record-types.ts'

const call = 'sales.call-summary'
const brief = 'sales.account-brief'
const invoice = 'fin.invoice-check'
const variance = 'fin.variance-note'
const review = 'legal.contract-review'
const clauses = 'legal.clause-compare'

/** Outputs of the skills of Sales, Finance and Legal. */
export const officeOutputs: readonly DemoOutput[] = [
  {
    ref: 'call-alpine',
    title: 'Call: Alpine Retail Group, spring range',
    skillId: call,
    text: 'The buyer wants 14 tent models and delivery by the end of February. Open: price of the four-person tent. Next step: an offer by Friday.',
    related: ['sales-playbook'],
  },
  {
    ref: 'call-coastline',
    title: 'Call: Coastline Sports, discount',
    skillId: call,
    text: 'They ask for 12 percent because of a slow season. Two invoices are open since September. We promised an answer this week, no more.',
    related: ['sales-playbook'],
  },
  {
    ref: 'call-northshore',
    title: 'Call: Northshore Climbing, first order',
    skillId: call,
    text: 'Eight gyms, first order of about $22,000. Agreed to the recording. They need certificates for the harnesses in French.',
    related: ['sales-playbook'],
  },
  {
    ref: 'call-tarn',
    title: 'Call: Tarn Valley Guides after the letter',
    skillId: call,
    text: 'The chair wants an answer for each rope and no general apology. A credit for the next season would be welcome.',
    related: ['claim-letter'],
  },
  {
    ref: 'brief-alpine',
    title: 'Brief: Alpine Retail Group',
    skillId: brief,
    text: '31 stores, $1.4 million last year, 81 percent sell-through. Two open tickets about labels. Pays within 20 days.',
    related: ['call-alpine', 'warehouse-schema'],
  },
  {
    ref: 'brief-coastline',
    title: 'Brief: Coastline Sports',
    skillId: brief,
    text: 'Nine stores, $210,000 last year, 52 percent sell-through. Two invoices over $17,300 are 45 days late.',
    related: ['call-coastline'],
  },
  {
    ref: 'brief-northshore',
    title: 'Brief: Northshore Climbing',
    skillId: brief,
    text: 'No orders yet. Comparable gyms order $2,500 per site and year. Certificates are the usual first question.',
    related: ['call-northshore'],
  },
  {
    ref: 'invoice-month',
    title: 'Invoice check: last month',
    skillId: invoice,
    text: '612 invoices: 431 agree, 144 differ in freight only, 37 need a person. No false match in the sample of 20.',
    related: ['invoice-rules'],
  },
  {
    ref: 'invoice-freight',
    title: 'Invoice check: freight of November',
    skillId: invoice,
    text: 'The carrier charges 8 percent from the first of the month, by the tariff it begins in the third week. Difference: $6,240.',
    related: ['invoice-rules', 'carrier-tariffs'],
  },
  {
    ref: 'invoice-fabric',
    title: 'Invoice check: shell fabric',
    skillId: invoice,
    text: 'Order 4,000 metres, delivered 3,940, invoiced 4,000. Within 2 percent, but above $50: to be corrected.',
    related: ['invoice-rules'],
  },
  {
    ref: 'invoice-reseller',
    title: 'Invoice check: AI reseller',
    skillId: invoice,
    text: 'Claude Sonnet 4.5 is invoiced 35 percent below list from the agreed day on. The total agrees with the calculated cost, not with the reported one.',
    related: ['price-offer', 'sender-prices'],
  },
  {
    ref: 'variance-ai',
    title: 'Variance: AI cost of the week',
    skillId: variance,
    text: 'Twice the plan. Nearly all of it comes from Engineering, which moved to Claude Opus 4.1 at the same number of invocations. The discount on Sonnet makes up for a small part.',
    related: ['ai-budget', 'model-evaluation'],
  },
  {
    ref: 'variance-freight',
    title: 'Variance: freight of the quarter',
    skillId: variance,
    text: '6 percent above plan: 4 points from the surcharge, 2 from more express parcels of Support.',
    related: ['carrier-tariffs', 'invoice-freight'],
  },
  {
    ref: 'variance-training',
    title: 'Variance: training budget',
    skillId: variance,
    text: '22 percent below plan. Two courses were moved to January, none was cancelled.',
    related: ['handbook'],
  },
  {
    ref: 'review-bergwerk',
    title: 'Contract review: Bergwerk Textiles, draft 4',
    skillId: review,
    text: 'Three deviations from the playbook: a penalty without a cap, Austrian law, and payment in 14 days. The first needs a change.',
    related: ['supplier-draft', 'contract-playbook'],
  },
  {
    ref: 'review-nordic',
    title: 'Contract review: Nordic distributor',
    skillId: review,
    text: 'Clause 3 asks for exclusive supply in four countries, which the playbook excludes. All else is standard.',
    related: ['contract-playbook'],
  },
  {
    ref: 'review-sample',
    title: 'Contract review: comparison of 40 reviews',
    skillId: review,
    text: 'The skill found 118 of 120 deviations that lawyers found. Both that it missed stand in annexes about data processing.',
    related: ['contract-playbook'],
  },
  {
    ref: 'clauses-bergwerk',
    title: 'Clauses: Bergwerk Textiles, drafts 3 and 4',
    skillId: clauses,
    text: 'Changed: the price index follows cotton no longer but polyester; the penalty begins after one week instead of two. New: a right to audit.',
    related: ['supplier-draft', 'review-bergwerk'],
  },
  {
    ref: 'clauses-nordic',
    title: 'Clauses: Nordic distributor, first right',
    skillId: clauses,
    text: 'Exclusive supply was replaced by a first right to new colours for 30 days. The term stays at two years.',
    related: ['review-nordic'],
  },
  {
    ref: 'clauses-carrier',
    title: 'Clauses: carrier, old and new terms',
    skillId: clauses,
    text: 'Liability for lost parcels falls from $120 to $80. The surcharge may now begin with one week of notice.',
    related: ['carrier-tariffs'],
  },
]
