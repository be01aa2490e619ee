import type { DemoDecision } from './record-types.ts'

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
