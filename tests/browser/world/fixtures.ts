/** Who and what there is in the world of the web UI's tests: an invented company. */

export const archetypes = [
  { archetype_id: 'account-executive', name: 'Account executive' },
  { archetype_id: 'data-analyst', name: 'Data analyst' },
  { archetype_id: 'finance-controller', name: 'Finance controller' },
  { archetype_id: 'legal-counsel', name: 'Legal counsel' },
  { archetype_id: 'software-engineer', name: 'Software engineer' },
  { archetype_id: 'support-agent', name: 'Support agent' },
] as const

type ArchetypeId = (typeof archetypes)[number]['archetype_id']

interface Skill {
  skill_id: string
  skill_version: string
  name: string
  description: string
  state: 'draft' | 'published' | 'deprecated'
  archetypes: readonly ArchetypeId[]
  /** How often it is used against the others; 0 is never. */
  weight: number
  /** Of its failures among invocations, and of those of the last day where that is another. */
  fails: number
  failsLately?: number
  /** Not used since so many days. */
  idleDays?: number
}

/** `hr.policy-answer` and `sales.proposal-outline` are dead; `legal.contract-review` fails since yesterday. */
export const skills: readonly Skill[] = [
  {
    ...{ skill_id: 'support.reply-draft', skill_version: '3.2.0', name: 'Draft a support reply', state: 'published' },
    description: 'Drafts an answer to a ticket in the tone of the team, with links to the help pages it used.',
    ...{ archetypes: ['support-agent'], weight: 30, fails: 0.02 },
  },
  {
    ...{ skill_id: 'support.ticket-triage', skill_version: '2.0.1', name: 'Triage a ticket', state: 'published' },
    description: 'Chooses queue and urgency of a new ticket.',
    ...{ archetypes: ['support-agent'], weight: 18, fails: 0.01 },
  },
  {
    ...{ skill_id: 'sales.call-summary', skill_version: '1.4.0', name: 'Summarise a call', state: 'published' },
    description: 'Turns a transcript into notes, open questions and next steps.',
    ...{ archetypes: ['account-executive'], weight: 12, fails: 0.03 },
  },
  {
    ...{ skill_id: 'sales.proposal-outline', skill_version: '1.1.3', name: 'Outline a proposal', state: 'published' },
    description: 'Outlines a proposal from the notes of a call.',
    ...{ archetypes: ['account-executive'], weight: 6, fails: 0.02, idleDays: 18 },
  },
  {
    ...{ skill_id: 'data.sql-assistant', skill_version: '4.0.0', name: 'Write a query', state: 'published' },
    description: 'Writes SQL against the warehouse.',
    ...{ archetypes: ['data-analyst', 'software-engineer'], weight: 10, fails: 0.08 },
  },
  {
    ...{ skill_id: 'data.chart-explainer', skill_version: '1.0.2', name: 'Explain a chart', state: 'deprecated' },
    description: 'Says in words what a chart shows.',
    ...{ archetypes: ['data-analyst'], weight: 3, fails: 0.04 },
  },
  {
    ...{ skill_id: 'legal.contract-review', skill_version: '2.5.0', name: 'Review a contract', state: 'published' },
    description: 'Compares a contract with the playbook and lists what deviates.',
    ...{ archetypes: ['legal-counsel'], weight: 6, fails: 0, failsLately: 0.7 },
  },
  {
    ...{ skill_id: 'eng.code-review', skill_version: '5.1.0', name: 'Review code', state: 'published' },
    description: 'Comments on a change before a person does.',
    ...{ archetypes: ['software-engineer'], weight: 14, fails: 0.02 },
  },
  {
    ...{ skill_id: 'fin.invoice-check', skill_version: '2.2.0', name: 'Check an invoice', state: 'published' },
    description: 'Compares an invoice with its order.',
    ...{ archetypes: ['finance-controller'], weight: 5, fails: 0.01 },
  },
  {
    ...{ skill_id: 'hr.policy-answer', skill_version: '1.0.0', name: 'Answer a policy question', state: 'published' },
    description: 'Answers from the handbook.',
    ...{ archetypes: ['support-agent', 'account-executive'], weight: 0, fails: 0 },
  },
  {
    ...{ skill_id: 'fin.variance-note', skill_version: '0.3.0', name: 'Explain a variance', state: 'draft' },
    description: 'Explains a deviation from the budget. Not released yet.',
    ...{ archetypes: ['finance-controller'], weight: 0, fails: 0 },
  },
]

interface Platform {
  llm_platform: string
  llm_model: string
  weight: number
  /** Of the median invocation. */
  latencyMs: number
  /** US dollars for a million tokens, as the platform bills them. */
  bills: { in: number; out: number }
}

/** `acme-internal-7b` has no price. */
export const platforms: readonly Platform[] = [
  ...models('claude', [
    ['claude-sonnet-4-5', 34, 2400, 3, 15],
    ['claude-haiku-4-5', 16, 900, 1, 5],
    ['claude-opus-4-1', 5, 5200, 15, 75],
  ]),
  ...models('chatgpt', [['gpt-5', 16, 3100, 1.25, 10]]),
  ...models('gemini', [
    ['gemini-2.5-pro', 9, 2700, 1.25, 10],
    ['gemini-2.5-flash', 6, 700, 0.3, 2.5],
  ]),
  ...models('copilot', [['gpt-4.1', 10, 1900, 2, 8]]),
  ...models('custom:handbook-bot', [['acme-internal-7b', 4, 1400, 0.2, 0.2]]),
]

function models(platform: string, rows: readonly (readonly [string, number, number, number, number])[]): Platform[] {
  return rows.map(([llm_model, weight, latencyMs, into, out]) => ({
    ...{ llm_platform: platform, llm_model, weight, latencyMs },
    bills: { in: into, out },
  }))
}

export const errorCodes = ['rate_limited', 'context_too_long', 'upstream_timeout', 'tool_failed'] as const

const given = ['ada', 'ben', 'chidi', 'dora', 'elif', 'farid', 'gita', 'hana', 'ivan', 'june', 'kofi', 'lena', 'mateo']
const family = ['abara', 'brandt', 'costa', 'dubois', 'eriksen', 'fujita', 'gomez', 'haddad', 'ito', 'jansen', 'keller']

/** 25 people, each of one archetype; the last two of none, for nobody has mapped their group. */
export const people = Array.from({ length: 25 }, (_, index) => {
  const names = [given[index % given.length]!, family[(index * 3) % family.length]!] as const
  const archetype = index < 23 ? archetypes[index % archetypes.length]! : undefined
  return { email: `${names[0]}.${names[1]}@acme.example`, names, archetypeId: archetype?.archetype_id }
})

/** One person for each role, as they sign in. */
export const roleEmails = {
  admin: 'admin@acme.example',
  auditor: 'auditor@acme.example',
  analyst: 'analyst@acme.example',
  member: 'member@acme.example',
} as const
