import type { ArchetypeId } from './company.ts'

export interface DemoSkill {
  id: string
  name: string
  version: string
  description: string
  /** Weight of the skill among the skills of an archetype. */
  weights: Partial<Record<ArchetypeId, number>>
}

/** The skill that fails since the rollout of its new version. */
export const failingSkill = {
  id: 'support.refund-check',
  formerVersion: '2.4.1',
  errorCodes: ['upstream_timeout', 'schema_mismatch'],
} as const
/** A skill that is published and granted to everybody but never used. */
export const unusedSkillId = 'hr.policy-answer'
/** A skill in use until two weeks before the end. */
export const quietSkillId = 'sales.proposal-outline'

export const skills: readonly DemoSkill[] = [
  {
    id: 'support.reply-draft',
    name: 'Draft a support reply',
    version: '3.2.0',
    description: 'Drafts a reply to a ticket in the tone of the team, with links to the help pages it used.',
    weights: { 'support-agent': 60 },
  },
  {
    id: 'support.ticket-triage',
    name: 'Triage a ticket',
    version: '2.0.1',
    description: 'Sets queue and urgency of a new ticket.',
    weights: { 'support-agent': 38 },
  },
  {
    id: failingSkill.id,
    name: 'Check a refund',
    version: '3.0.0',
    description: 'Compares a refund request with the order, the refund ledger and the refund policy.',
    weights: { 'support-agent': 1.5 },
  },
  {
    id: 'eng.code-review',
    name: 'Review code',
    version: '5.1.0',
    description: 'Comments on a change before a colleague reviews it.',
    weights: { 'software-engineer': 70 },
  },
  {
    id: 'eng.incident-notes',
    name: 'Write incident notes',
    version: '1.2.0',
    description: 'Turns a chat channel of an incident into a timeline with open actions.',
    weights: { 'software-engineer': 15 },
  },
  {
    id: 'data.sql-assistant',
    name: 'Write a query',
    version: '4.0.0',
    description: 'Writes SQL against the warehouse and explains the plan.',
    weights: { 'data-analyst': 70, 'software-engineer': 15 },
  },
  {
    id: 'data.chart-explainer',
    name: 'Explain a chart',
    version: '1.0.2',
    description: 'Describes in two sentences what a chart shows.',
    weights: { 'data-analyst': 30 },
  },
  {
    id: 'sales.call-summary',
    name: 'Summarise a call',
    version: '1.4.0',
    description: 'Turns the transcript of a call into notes, open questions and next steps.',
    weights: { 'account-executive': 55 },
  },
  {
    id: 'sales.account-brief',
    name: 'Brief an account',
    version: '1.0.0',
    description: 'Collects orders, tickets and open offers of a retailer on one page.',
    weights: { 'account-executive': 25 },
  },
  {
    id: quietSkillId,
    name: 'Outline a proposal',
    version: '1.1.3',
    description: 'Outlines a proposal from the notes of a call.',
    weights: { 'account-executive': 20 },
  },
  {
    id: 'fin.invoice-check',
    name: 'Check an invoice',
    version: '2.2.0',
    description: 'Compares an invoice with its order and its delivery note.',
    weights: { 'finance-controller': 60 },
  },
  {
    id: 'fin.variance-note',
    name: 'Explain a variance',
    version: '1.0.0',
    description: 'Explains a deviation from the budget from the bookings behind it.',
    weights: { 'finance-controller': 40 },
  },
  {
    id: 'legal.contract-review',
    name: 'Review a contract',
    version: '2.5.0',
    description: 'Compares a contract with the playbook and lists every deviation.',
    weights: { 'legal-counsel': 70 },
  },
  {
    id: 'legal.clause-compare',
    name: 'Compare clauses',
    version: '0.9.0',
    description: 'Shows how a clause changed between two drafts.',
    weights: { 'legal-counsel': 30 },
  },
  {
    id: unusedSkillId,
    name: 'Answer a policy question',
    version: '1.0.0',
    description: 'Answers questions about leave, travel and expenses from the handbook.',
    weights: {},
  },
]

export interface SkillPack {
  id: string
  name: string
  /** The first part of the ids of its skills. */
  family: string
  archetypes: readonly ArchetypeId[]
}

/** A pack for each family of skills, with the archetypes that get its skills. */
export const packs: readonly SkillPack[] = [
  { id: 'fernhill-support-desk', name: 'Support desk', family: 'support', archetypes: ['support-agent'] },
  { id: 'fernhill-engineering', name: 'Engineering', family: 'eng', archetypes: ['software-engineer'] },
  { id: 'fernhill-data', name: 'Data', family: 'data', archetypes: ['data-analyst', 'software-engineer'] },
  { id: 'fernhill-sales', name: 'Sales', family: 'sales', archetypes: ['account-executive'] },
  { id: 'fernhill-finance', name: 'Finance', family: 'fin', archetypes: ['finance-controller'] },
  { id: 'fernhill-legal', name: 'Legal', family: 'legal', archetypes: ['legal-counsel'] },
  {
    id: 'fernhill-people',
    name: 'People',
    family: 'hr',
    archetypes: [
      ...(['support-agent', 'software-engineer', 'account-executive'] as const),
      ...(['data-analyst', 'finance-controller', 'legal-counsel'] as const),
    ],
  },
]

export function skillsOf(pack: SkillPack): DemoSkill[] {
  return skills.filter(({ id }) => id.startsWith(`${pack.family}.`))
}
