/** The invented company of the demo: who works there, with which skills, on which platforms. */

interface DemoSkill {
  id: string
  name: string
  version: string
  archetypes: readonly string[]
  /** How often it is used, against the others. */
  weight: number
}

export const archetypes = [
  { archetype_id: 'account-executive', name: 'Account executive' },
  { archetype_id: 'support-agent', name: 'Support agent' },
  { archetype_id: 'data-analyst', name: 'Data analyst' },
  { archetype_id: 'legal-counsel', name: 'Legal counsel' },
  { archetype_id: 'software-engineer', name: 'Software engineer' },
  { archetype_id: 'finance-controller', name: 'Finance controller' },
] as const

export const skills: readonly DemoSkill[] = [
  {
    id: 'support.reply-draft',
    name: 'Draft a support reply',
    version: '3.2.0',
    archetypes: ['support-agent'],
    weight: 30,
  },
  { id: 'support.ticket-triage', name: 'Triage a ticket', version: '2.0.1', archetypes: ['support-agent'], weight: 18 },
  {
    id: 'sales.call-summary',
    name: 'Summarise a call',
    version: '1.4.0',
    archetypes: ['account-executive'],
    weight: 12,
  },
  {
    id: 'sales.proposal-outline',
    name: 'Outline a proposal',
    version: '1.1.3',
    archetypes: ['account-executive'],
    weight: 6,
  },
  {
    id: 'data.sql-assistant',
    name: 'Write a query',
    version: '4.0.0',
    archetypes: ['data-analyst', 'software-engineer'],
    weight: 10,
  },
  { id: 'data.chart-explainer', name: 'Explain a chart', version: '1.0.2', archetypes: ['data-analyst'], weight: 4 },
  {
    id: 'legal.contract-review',
    name: 'Review a contract',
    version: '2.5.0',
    archetypes: ['legal-counsel'],
    weight: 5,
  },
  { id: 'legal.clause-compare', name: 'Compare clauses', version: '0.9.0', archetypes: ['legal-counsel'], weight: 2 },
  { id: 'eng.code-review', name: 'Review code', version: '5.1.0', archetypes: ['software-engineer'], weight: 14 },
  {
    id: 'eng.incident-notes',
    name: 'Write incident notes',
    version: '1.2.0',
    archetypes: ['software-engineer'],
    weight: 3,
  },
  {
    id: 'fin.variance-note',
    name: 'Explain a variance',
    version: '1.0.0',
    archetypes: ['finance-controller'],
    weight: 3,
  },
  {
    id: 'fin.invoice-check',
    name: 'Check an invoice',
    version: '2.2.0',
    archetypes: ['finance-controller'],
    weight: 4,
  },
]

interface DemoPlatform {
  platform: string
  /** Absent where the platform does not say which model it ran: such events stay unpriced. */
  model?: string
  weight: number
  /** Latency: a fixed part, a part per token read and a part per token written, in milliseconds. */
  latency: { fixed: number; perTokenIn: number; perTokenOut: number }
  /** What the platform bills, in US dollars per million tokens. */
  bills: { tokensIn: number; tokensOut: number }
}

export const platforms: readonly DemoPlatform[] = [
  {
    platform: 'claude',
    model: 'claude-sonnet-4-5',
    weight: 34,
    latency: { fixed: 420, perTokenIn: 0.09, perTokenOut: 14 },
    bills: { tokensIn: 3, tokensOut: 15 },
  },
  {
    platform: 'claude',
    model: 'claude-haiku-4-5',
    weight: 16,
    latency: { fixed: 210, perTokenIn: 0.03, perTokenOut: 6 },
    bills: { tokensIn: 1, tokensOut: 5 },
  },
  {
    platform: 'chatgpt',
    model: 'gpt-5',
    weight: 18,
    latency: { fixed: 610, perTokenIn: 0.07, perTokenOut: 13 },
    bills: { tokensIn: 1.25, tokensOut: 10 },
  },
  {
    platform: 'gemini',
    model: 'gemini-2.5-pro',
    weight: 12,
    latency: { fixed: 530, perTokenIn: 0.05, perTokenOut: 9 },
    bills: { tokensIn: 1.25, tokensOut: 10 },
  },
  {
    platform: 'copilot',
    model: 'gpt-4.1',
    weight: 12,
    latency: { fixed: 380, perTokenIn: 0.06, perTokenOut: 11 },
    bills: { tokensIn: 2, tokensOut: 8 },
  },
  {
    platform: 'slack',
    model: 'claude-haiku-4-5',
    weight: 5,
    latency: { fixed: 300, perTokenIn: 0.03, perTokenOut: 6 },
    bills: { tokensIn: 1, tokensOut: 5 },
  },
  {
    platform: 'custom:handbook-bot',
    weight: 3,
    latency: { fixed: 150, perTokenIn: 0.02, perTokenOut: 22 },
    bills: { tokensIn: 0.2, tokensOut: 0.2 },
  },
]

export const errorCodes = ['rate_limited', 'context_too_long', 'upstream_timeout', 'tool_failed'] as const

const givenNames = ['ada', 'ben', 'chidi', 'dora', 'elif', 'farid', 'gita', 'hana', 'ivan', 'june', 'kofi', 'lena']
const familyNames = ['abara', 'brandt', 'costa', 'dubois', 'eriksen', 'fujita', 'gomez', 'haddad', 'ito', 'jansen']

/** 120 people, each of one archetype, as user ids. */
export const people: readonly { userId: string; archetypeId: string }[] = givenNames.flatMap((given, row) =>
  familyNames.map((family, column) => ({
    userId: `user:${given}.${family}@demo.example`,
    archetypeId: archetypes[(row * familyNames.length + column) % archetypes.length]!.archetype_id,
  })),
)
