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

/** Decisions behind what the telemetry shows: the price, the dearer model, the failing and the unused skills, the claim. */
export const storyDecisions: readonly DemoDecision[] = [
  {
    id: 'DEC-101',
    subject: 'Reseller price for Claude Sonnet 4.5',
    outcome: 'approved',
    rationale:
      'The reseller offers 35 percent below list for twelve months without a minimum, and more than half of our invocations run on this model. The price is entered as our own from the day the offer begins. Reported cost stays too high until the senders get a new price table.',
    role: 'Head of Procurement',
    related: ['price-offer', 'ai-budget'],
  },
  {
    id: 'DEC-102',
    subject: 'New price table for the telemetry senders before its release',
    outcome: 'deferred',
    rationale:
      'The difference between reported and calculated cost is known and explained. A release of its own would cost two days, and the regular one is four weeks away. Finance books by calculated cost until then.',
    role: 'Engineering Manager',
    related: ['sender-prices', 'price-offer'],
  },
  {
    id: 'DEC-103',
    subject: 'Software engineers move from Claude Sonnet 4.5 to Claude Opus 4.1',
    outcome: 'approved with conditions',
    rationale:
      'Opus found 41 of 52 seeded defects, Sonnet 29. The cost per token is five times as high, so the move is for this archetype alone and is looked at again after two weeks. It goes back if the cost of Engineering is above 70 percent of the total without fewer escaped defects.',
    role: 'VP Engineering',
    related: ['model-evaluation', 'ai-budget'],
  },
  {
    id: 'DEC-104',
    subject: 'Raise the AI budget for the rest of the half-year',
    outcome: 'rejected',
    rationale:
      'Daily spend has doubled since the engineers moved, and two weeks of figures are not there yet. The reserve covers the difference for 40 days. We decide with the review of DEC-103.',
    role: 'Chief Financial Officer',
    related: ['ai-budget', 'DEC-103'],
  },
  {
    id: 'DEC-105',
    subject: 'Roll out “Check a refund” 3.0.0 to all of Support',
    outcome: 'approved',
    rationale:
      'The pilot team ran 139 checks and agreed with 131 of them. Version 3.0.0 adds the refund ledger, which agents open by hand today. Rollout at 07:00, before the first shift is complete.',
    role: 'Head of Support',
    related: ['refund-pilot', 'refund-release'],
  },
  {
    id: 'DEC-106',
    subject: 'Go back to “Check a refund” 2.4.1',
    outcome: 'deferred',
    rationale:
      'Almost a third of the checks fail since the rollout, with upstream_timeout and schema_mismatch. Engineering expects a fix of the amount field today, which removes four of ten failures. If the ledger still times out tomorrow at noon, we go back.',
    role: 'Head of Support',
    related: ['refund-incident', 'refund-failures', 'DEC-105'],
  },
  {
    id: 'DEC-107',
    subject: 'Legal hold over the refund claim of Tarn Valley Guides',
    outcome: 'approved',
    rationale:
      'The cooperative has announced a lawsuit and asks how each refusal came about. Policy, summaries and our answer are evidence. The hold stays until the claim is settled in writing.',
    role: 'General Counsel',
    related: ['claim-letter', 'claim-summary'],
  },
  {
    id: 'DEC-108',
    subject: 'Refund four defective rope sets of Tarn Valley Guides',
    outcome: 'approved',
    rationale:
      'The sample shows one refusal of a defect, and a check of all 92 cases found three more. Paying $800 now costs less than arguing about them. It is no admission for the other 88.',
    role: 'Legal Counsel',
    related: ['claim-sample', 'refund-policy'],
  },
  {
    id: 'DEC-109',
    subject: 'Credit of 20 percent for the other rope sets of Tarn Valley Guides',
    outcome: 'approved with conditions',
    rationale:
      'The cooperative has bought from us for nine years. The credit is offered once, for orders of the next season, and only with a written settlement.',
    role: 'Sales Director',
    related: ['claim-answer', 'DEC-108'],
  },
  {
    id: 'DEC-110',
    subject: 'Retire “Answer a policy question”',
    outcome: 'deferred',
    rationale:
      'Nobody has used the skill since it was published for everybody. People ask the handbook bot in chat instead. HR wants to announce it once more before it goes.',
    role: 'Head of People',
    related: ['handbook', 'access-review'],
  },
  {
    id: 'DEC-111',
    subject: 'Stop maintaining “Outline a proposal”',
    outcome: 'approved',
    rationale:
      'Eleven of 64 outlines reached a customer, and the configurator fills in prices that the skill cannot know. The team stopped using it two weeks ago. The skill stays published until the end of the quarter.',
    role: 'Sales Director',
    related: ['proposal-review', 'sales-playbook'],
  },
  {
    id: 'DEC-112',
    subject: 'Enter a price for the handbook model of our own',
    outcome: 'rejected',
    rationale:
      'The model runs on a machine that is written off. A price per token would be invented. Its invocations stay unpriced, and the reports say how many they are.',
    role: 'Finance Controller',
    related: ['ai-budget'],
  },
]
