import type { DemoDecision } from './record-types.ts'

/** Decisions of Support, Sales, Finance and Logistics. */
export const tradeDecisions: readonly DemoDecision[] = [
  {
    id: 'DEC-129',
    subject: 'Send drafted replies without reading them',
    outcome: 'rejected',
    rationale:
      'Agents change 23 percent of the drafts, mostly delivery dates. A wrong date costs a second ticket and a refund of the freight. One click by a person stays.',
    role: 'Head of Support',
    related: ['support-survey', 'reply-parcel'],
  },
  {
    id: 'DEC-130',
    subject: 'Merge tickets of one customer about one order',
    outcome: 'approved',
    rationale:
      'In 21 of 57 cases two agents gave different replies. The triage skill finds such tickets with an error of two percent, and a merge can be undone.',
    role: 'Support Team Lead',
    related: ['triage-duplicates'],
  },
  {
    id: 'DEC-131',
    subject: 'Publish the winter surcharge on the product page',
    outcome: 'approved',
    rationale:
      'One in nine tickets of the last week asks about the surcharge. A sentence below the price answers them before they are written.',
    role: 'Head of Support',
    related: ['reply-surcharge-2', 'carrier-tariffs'],
  },
  {
    id: 'DEC-132',
    subject: 'Replace leaking boots without a return',
    outcome: 'approved with conditions',
    rationale:
      'The return costs $14 and the boots are destroyed on arrival. A photo of the open seam is enough up to $180. More than two replacements per customer and year go to a team lead.',
    role: 'Support Team Lead',
    related: ['reply-boots', 'refund-policy'],
  },
  {
    id: 'DEC-133',
    subject: 'Second shift of Support on Saturdays',
    outcome: 'approved',
    rationale:
      'Saturday tickets grew by a third since spring and wait 19 hours on average. Two agents until 20:00 bring that to four hours. The cost is below that of the express parcels we send as an apology.',
    role: 'Head of Support',
    related: ['triage-monday', 'support-survey'],
  },
  {
    id: 'DEC-134',
    subject: 'Spring offer to Alpine Retail Group',
    outcome: 'approved',
    rationale:
      'Sell-through of the autumn range was 81 percent, and the buyer asked for tents twice. Terms are those of last year, with delivery four weeks earlier.',
    role: 'Sales Director',
    related: ['brief-alpine', 'call-alpine', 'sales-playbook'],
  },
  {
    id: 'DEC-135',
    subject: 'Discount of 12 percent for Coastline Sports',
    outcome: 'rejected',
    rationale:
      'The account is two invoices behind and asked for the same discount in spring. We offer longer payment terms once the open invoices are settled.',
    role: 'Sales Director',
    related: ['call-coastline', 'brief-coastline'],
  },
  {
    ...{
      id: 'DEC-136',
      subject: 'Record calls with retail accounts for summaries',
      outcome: 'approved with conditions',
    },
    rationale:
      'Summaries save each account executive about three hours a week. The customer is asked at the beginning of each call, and the recording is deleted once the summary is accepted.',
    role: 'Sales Director',
    related: ['call-northshore', 'sales-playbook'],
  },
  {
    id: 'DEC-137',
    subject: 'Book invoices without a person if all three documents agree',
    outcome: 'approved',
    rationale:
      'In 600 checks no false match was found within two percent or $50. About 70 percent of the invoices pass. A sample of 20 is read each month.',
    role: 'Chief Financial Officer',
    related: ['invoice-month', 'invoice-rules'],
  },
  {
    id: 'DEC-138',
    subject: 'Pay the disputed freight invoice of November',
    outcome: 'deferred',
    rationale:
      'The carrier charged the surcharge from the first of the month, the tariff says the third week. We pay the undisputed part and wait for a credit note.',
    role: 'Finance Controller',
    related: ['invoice-freight', 'carrier-tariffs'],
  },
  {
    id: 'DEC-139',
    subject: 'Report AI cost by archetype to the department heads',
    outcome: 'approved',
    rationale:
      'Engineering is at more than twice its planned share this week, and its head learned of it from Finance. A weekly figure by archetype and model reaches everybody at the same time.',
    role: 'Finance Controller',
    related: ['variance-ai', 'ai-budget', 'DEC-103'],
  },
  {
    id: 'DEC-140',
    subject: 'Change the parcel carrier in January',
    outcome: 'rejected',
    rationale:
      'The other carrier is $0.30 cheaper for small parcels and loses twice as many. At our volume the lost ones cost more than the saving.',
    role: 'Head of Logistics',
    related: ['variance-freight', 'carrier-tariffs', 'reply-parcel'],
  },
]
