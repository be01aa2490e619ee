import type { DemoDecision } from './record-types.ts'

/** Decisions of Engineering, Data, Legal, Security and People. */
export const workDecisions: readonly DemoDecision[] = [
  {
    id: 'DEC-113',
    subject: 'Code review by AI before each human review',
    outcome: 'approved',
    rationale:
      'In the trial 41 of 52 seeded defects were found before a colleague looked. A human approval stays required for every merge. Comments that the author dismisses are counted and read monthly.',
    role: 'VP Engineering',
    related: ['model-evaluation', 'review-payments'],
  },
  {
    id: 'DEC-114',
    subject: 'Let “Review code” approve changes by itself',
    outcome: 'rejected',
    rationale:
      'Eleven of 52 seeded defects passed, three of them in payment code. An approval without a person would also break the four-eyes rule of our auditor.',
    role: 'VP Engineering',
    related: ['model-evaluation', 'DEC-113'],
  },
  {
    id: 'DEC-115',
    subject: 'Build the dropped checkout index again during the day',
    outcome: 'approved',
    rationale:
      'Checkout takes nine seconds and baskets are abandoned every minute. The index can be built without a lock in about twelve minutes. Waiting for the night would cost more than the extra load.',
    role: 'Engineering Manager',
    related: ['checkout-outage', 'notes-checkout'],
  },
  {
    id: 'DEC-116',
    subject: 'Require a second reviewer for database migrations',
    outcome: 'approved',
    rationale:
      'The checkout index was dropped by a migration that one person reviewed in four minutes. Two of the last five incidents began with a migration. The rule is looked at again after a quarter.',
    role: 'Engineering Manager',
    related: ['notes-checkout-actions', 'incident-runbook'],
  },
  {
    id: 'DEC-117',
    subject: 'Write incident notes with AI',
    outcome: 'approved with conditions',
    rationale:
      'The notes of the last three incidents were complete and saved the lead about an hour each. The lead signs them before they are sent on. Names of customers are removed first.',
    role: 'Engineering Manager',
    related: ['notes-search', 'incident-runbook'],
  },
  {
    id: 'DEC-118',
    subject: 'GPT-4.1 in the editor stays for engineers who prefer it',
    outcome: 'approved',
    rationale:
      'About one in eight invocations of Engineering comes from the editor, at a fifth of the cost. Taking it away would save nothing and annoy the people who use it.',
    role: 'VP Engineering',
    related: ['model-evaluation', 'DEC-103'],
  },
  {
    id: 'DEC-119',
    subject: 'Access of “Write a query” to the production database',
    outcome: 'rejected',
    rationale:
      'The warehouse has the same rows with four hours of delay, and no query of the last month needed fresher ones. A slow query on production would reach customers.',
    role: 'Head of Data',
    related: ['warehouse-schema', 'query-returns'],
  },
  {
    id: 'DEC-120',
    subject: 'Load returns at 01:00 instead of 04:00',
    outcome: 'approved',
    rationale:
      'The early shift of Support asks for the returns of the day before at 06:00, and loading takes up to three hours in winter. The nightly backup moves to 03:00.',
    role: 'Head of Data',
    related: ['warehouse-schema', 'query-late-returns'],
  },
  {
    ...{
      id: 'DEC-121',
      subject: 'Charts for the board carry a generated explanation',
      outcome: 'approved with conditions',
    },
    rationale:
      'Three of 20 explanations named a cause that the figures do not show. An analyst checks each sentence against the query and signs the page.',
    role: 'Head of Data',
    related: ['chart-returns', 'chart-sizes'],
  },
  {
    id: 'DEC-122',
    subject: 'Contract with Bergwerk Textiles, fourth draft',
    outcome: 'approved with conditions',
    rationale:
      'Price index and term are as agreed. The penalty of 0.5 percent per week has no cap, against the playbook. We sign once it is capped at five percent of the order.',
    role: 'General Counsel',
    related: ['review-bergwerk', 'clauses-bergwerk', 'contract-playbook'],
  },
  {
    id: 'DEC-123',
    subject: 'Exclusive supply for the Nordic distributor',
    outcome: 'rejected',
    rationale:
      'The playbook allows no exclusive supply, and two retailers in Norway already sell our tents. A first right to new colours was offered instead.',
    role: 'General Counsel',
    related: ['review-nordic', 'contract-playbook'],
  },
  {
    id: 'DEC-124',
    subject: 'Contract reviews without a lawyer below $10,000',
    outcome: 'deferred',
    rationale:
      'In 40 reviews the skill missed two deviations, both about data processing. We wait for version 3, which reads annexes, and repeat the comparison.',
    role: 'Legal Counsel',
    related: ['review-sample', 'contract-playbook'],
  },
  {
    id: 'DEC-125',
    subject: 'Keep records behind customer decisions for three years',
    outcome: 'approved',
    rationale:
      'Claims over consumer goods can be raised for two years, and courts take time. Drafts that nobody used may go after 90 days. The works council has agreed.',
    role: 'Data Protection Officer',
    related: ['retention-memo'],
  },
  {
    id: 'DEC-126',
    subject: 'Usage by single person in reports to managers',
    outcome: 'rejected',
    rationale:
      'The agreement with the works council allows figures by archetype and by group of at least five. Administrators see single people only to investigate a failure or a misuse.',
    role: 'Data Protection Officer',
    related: ['access-review'],
  },
  {
    id: 'DEC-127',
    subject: 'Remove two former contractors from the directory',
    outcome: 'approved',
    rationale:
      'Both contracts ended in August, and neither account was used since. Their accounts were found by the access review, not by the leaving process. HR corrects the process.',
    role: 'Head of Security',
    related: ['access-review'],
  },
  {
    id: 'DEC-128',
    subject: 'Upload of customer photos to the reply skill',
    outcome: 'deferred',
    rationale:
      'Photos of defects would save a question in a third of the tickets. They may show faces and addresses, and the terms of two platforms differ about storage. Legal compares the terms first.',
    role: 'Head of Security',
    related: ['reply-boots', 'retention-memo'],
  },
]
