import { topics } from './corpus-topics.ts'

/** 2,000 decisions of an invented company: each topic was decided in each of its branches, in two years. */

export const cities = [
  ...[
    'Lisbon',
    'Porto',
    'Madrid',
    'Seville',
    'Lyon',
    'Nantes',
    'Antwerp',
    'Rotterdam',
    'Utrecht',
    'Hamburg',
    'Leipzig',
  ],
  ...['Zürich', 'Basel', 'Vienna', 'Graz', 'Prague', 'Brno', 'Kraków', 'Gdańsk', 'Malmö', 'Oslo', 'Tampere', 'Dublin'],
  ...['Leeds', 'Glasgow'],
] as const
export const years = [2024, 2025] as const

const vendors = [
  'Norvik',
  'Calder & Sons',
  'Bluefin',
  'Ostara',
  'Quillon',
  'Tremont',
  'Halden',
  'Pioneer West',
  'Sablier',
]
const roles = ['branch manager', 'head of operations', 'works council', 'finance lead', 'regional director', 'board']

export interface CorpusDecision {
  record_type: 'decision'
  decision_id: string
  decision_subject: string
  decision_outcome: string
  decision_rationale: string
  decision_actor_role: string
}

export type Topic = keyof typeof topics

/** Returns the id of a decision, in which neither place nor subject can be read. */
export function idOf(topic: Topic, city: (typeof cities)[number], year: (typeof years)[number]): string {
  const place = cities.indexOf(city) * years.length + years.indexOf(year)
  return `D-${String(Object.keys(topics).indexOf(topic) * cities.length * years.length + place).padStart(5, '0')}`
}

/** Returns all decisions, in an order that mixes topics and places. */
export function corpus(): CorpusDecision[] {
  const decisions = Object.keys(topics).flatMap((topic) =>
    cities.flatMap((city) => years.map((year) => decisionOf(topic as Topic, city, year))),
  )
  return decisions.map((_, at) => decisions[(at * 739) % decisions.length]!)
}

function decisionOf(topic: Topic, city: (typeof cities)[number], year: (typeof years)[number]): CorpusDecision {
  const decision_id = idOf(topic, city, year)
  const number = Number(decision_id.slice(2))
  const values: Record<string, string> = {
    city,
    year: String(year),
    vendor: vendors[number % vendors.length]!,
    amount: String(1_200 + ((number * 7919) % 88_000)),
    days: String(5 + ((number * 31) % 85)),
    month: ['January', 'March', 'May', 'June', 'September', 'October', 'November'][number % 7]!,
  }
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => values[name]!)
  const [subject, outcome, rationale] = topics[topic]
  return {
    record_type: 'decision',
    decision_id,
    decision_subject: filled(subject),
    decision_outcome: filled(outcome),
    decision_rationale: filled(rationale),
    decision_actor_role: roles[number % roles.length]!,
  }
}
