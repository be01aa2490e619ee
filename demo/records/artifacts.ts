import type { DemoArtifact } from './record-types.ts'

const markdown = 'text/markdown'

/** Sources of the company, each with a readable extract. */
export const artifacts: readonly DemoArtifact[] = [
  {
    ref: 'refund-policy',
    title: 'Refund policy 2026',
    mediaType: markdown,
    path: 'support/refund-policy-2026',
    text: 'Unused goods are refunded within 60 days. Boots and sleeping bags are refunded after use only for a defect. Refunds above $400 need a second person.',
  },
  {
    ref: 'refund-policy-copy',
    title: 'Refund policy 2026 (uploaded twice)',
    mediaType: markdown,
    path: 'support/refund-policy-2026-copy',
    related: ['refund-policy'],
    text: 'The same text as “Refund policy 2026”, uploaded a second time by mistake.',
  },
  {
    ref: 'refund-ledger',
    title: 'Refund ledger API, version 7',
    mediaType: 'application/json',
    path: 'engineering/refund-ledger-v7',
    text: 'GET /refunds/{order} returns amount, currency and reason_code. Since version 7 the amount is an object with minor units, no longer a number. The service level is 2 seconds at p95.',
  },
  {
    ref: 'refund-release',
    title: 'Release notes: Check a refund 3.0.0',
    mediaType: markdown,
    path: 'ai/refund-check-3-0-0',
    related: ['refund-ledger', 'refund-policy'],
    text: 'Reads the refund ledger before it answers, and names the paragraph of the policy. Tested with 40 orders of the pilot team. Rolled out to all of Support at 07:00.',
  },
  {
    ref: 'refund-incident',
    title: 'Incident channel: refund checks fail',
    mediaType: 'text/plain',
    path: 'incidents/refund-check',
    related: ['refund-release', 'refund-ledger'],
    text: 'A third of the checks end with upstream_timeout or schema_mismatch since the rollout of 3.0.0. Version 2.4.1 did not call the ledger. Agents check by hand meanwhile.',
  },
  {
    ...{
      ref: 'support-tone',
      title: 'Tone guide for support replies',
      mediaType: markdown,
      path: 'support/tone-guide',
    },
    text: 'Answer the question in the first sentence. Apologise once. Never promise a delivery date that the carrier has not confirmed.',
  },
  {
    ...{
      ref: 'support-survey',
      title: 'Customer survey, autumn',
      mediaType: 'text/csv',
      path: 'support/survey-autumn',
    },
    text: '1,204 answers. Satisfied with the reply: 87 percent, four points more than in spring. Most frequent complaint: two replies that contradict each other.',
  },
  {
    ref: 'model-evaluation',
    title: 'Model evaluation for engineering tasks',
    mediaType: markdown,
    path: 'engineering/model-evaluation',
    text: 'On 180 pull requests of our own, Opus found 41 of 52 seeded defects and Sonnet 29. Opus costs five times as much per token. Reviewers dismissed 12 percent of its comments, of Sonnet’s 19 percent.',
  },
  {
    ref: 'price-offer',
    title: 'Offer of the reseller: Claude Sonnet 4.5',
    mediaType: 'application/pdf',
    path: 'procurement/reseller-offer-sonnet',
    text: '35 percent below list for Claude Sonnet 4.5 for twelve months, without a minimum. Other models at list price. Invoiced monthly in US dollars.',
  },
  {
    ref: 'ai-budget',
    title: 'AI budget, second half',
    mediaType: 'text/csv',
    path: 'finance/ai-budget-h2',
    text: 'Planned per archetype from the use of June, plus 20 percent. Support 38 percent, Engineering 27, Sales 15, Data 9, Legal 7, Finance 4.',
  },
  {
    ref: 'sender-prices',
    title: 'Price table of the telemetry senders',
    mediaType: 'application/json',
    path: 'engineering/sender-price-table',
    text: 'The forwarders multiply tokens by a table of list prices that is shipped with each release. The next release is planned for next month.',
  },
  {
    ...{
      ref: 'access-review',
      title: 'Access review of AI skills',
      mediaType: markdown,
      path: 'security/access-review',
    },
    text: 'All 120 people belong to exactly one archetype. No skill is granted outside the archetypes that its owner named. Two former contractors were removed.',
  },
  {
    ...{
      ref: 'retention-memo',
      title: 'Memo: how long we keep AI records',
      mediaType: markdown,
      path: 'legal/retention-memo',
    },
    text: 'Records that a customer decision rests on are kept for three years. Drafts that nobody used can go after 90 days. A legal hold comes before both.',
  },
  {
    ref: 'claim-letter',
    title: 'Letter: refund claim of Tarn Valley Guides',
    mediaType: 'application/pdf',
    path: 'legal/claim-tarn-valley',
    text: 'The guides’ cooperative claims $18,400 for 92 refused refunds of rope sets, and asks how each refusal came about. Answer due in four weeks.',
  },
  {
    ref: 'warehouse-schema',
    title: 'Warehouse schema: orders and returns',
    mediaType: 'application/sql',
    path: 'data/warehouse-schema',
    text: 'orders(order_id, retailer_id, placed_at, total_minor, currency), returns(return_id, order_id, reason_code, received_at). Returns are loaded at 04:00.',
  },
  {
    ...{
      ref: 'sales-playbook',
      title: 'Playbook for retail accounts',
      mediaType: markdown,
      path: 'sales/retail-playbook',
    },
    text: 'Lead with sell-through, not with margin. Offer the spring range before the fair. Never send a draft that names another retailer.',
  },
  {
    ...{
      ref: 'proposal-review',
      title: 'Review: use of proposal outlines',
      mediaType: markdown,
      path: 'sales/proposal-review',
    },
    text: 'In the last quarter 11 of 64 outlines reached a customer. The team builds proposals from the configurator now, which fills in prices by itself.',
  },
  {
    ref: 'invoice-rules',
    title: 'Invoice matching rules',
    mediaType: markdown,
    path: 'finance/invoice-matching',
    text: 'Order, delivery note and invoice must agree within 2 percent or $50, whichever is less. Freight is matched separately.',
  },
  {
    ...{
      ref: 'contract-playbook',
      title: 'Contract playbook, third edition',
      mediaType: markdown,
      path: 'legal/contract-playbook',
    },
    text: 'Liability is capped at the yearly fee. No exclusive supply. Data processing terms are ours unless the counterparty is a public body.',
  },
  {
    ref: 'supplier-draft',
    title: 'Draft contract: Bergwerk Textiles',
    mediaType: 'application/pdf',
    path: 'legal/bergwerk-draft-4',
    text: 'Fourth draft. Three-year supply of recycled shell fabric, with a price index and a penalty of 0.5 percent per week of delay.',
  },
  {
    ...{
      ref: 'incident-runbook',
      title: 'Incident runbook',
      mediaType: markdown,
      path: 'engineering/incident-runbook',
    },
    text: 'The first engineer on call leads. Notes are written while the incident runs. The review is held within five working days.',
  },
  {
    ...{
      ref: 'checkout-outage',
      title: 'Incident channel: slow checkout',
      mediaType: 'text/plain',
      path: 'incidents/checkout',
    },
    text: 'Checkout took 9 seconds for 47 minutes after an index was dropped. 212 baskets were abandoned. The index was built again without locking.',
  },
  {
    ref: 'handbook',
    title: 'Employee handbook',
    mediaType: markdown,
    path: 'people/handbook',
    text: 'Thirty days of leave. Travel by train where it takes less than five hours. Expenses are filed within 30 days.',
  },
  {
    ...{
      ref: 'carrier-tariffs',
      title: 'Carrier tariffs, winter',
      mediaType: 'text/csv',
      path: 'logistics/carrier-tariffs',
    },
    text: 'Parcels up to 2 kg: $4.10, up to 10 kg: $7.90. A surcharge of 8 percent applies from the third week of November to the end of the year.',
  },
]
