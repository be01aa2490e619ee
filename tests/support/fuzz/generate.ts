import { byteMutations, textMutations, valueMutations } from './body-mutations.ts'
import type { FuzzFixtures } from './fuzz-fixtures.ts'
import { sendMalformed } from './malformed-http.ts'
import type { Random } from './random.ts'
import { seededRandom } from './random.ts'
import { buildValidRequest, type FuzzRequest, finished } from './request-builder.ts'
import { accessMutations, addressMutations, headerMutations, type Mutation } from './request-mutations.ts'

/** A request, and what it is as bytes where an HTTP library would not send it. */
export interface GeneratedRequest extends FuzzRequest {
  index: number
  raw?: Buffer
}

/** In the order in which they are applied, because a body is a value, then text, then bytes. */
const groups = {
  access: { mutations: accessMutations, weight: 2 },
  headers: { mutations: headerMutations, weight: 3 },
  address: { mutations: addressMutations, weight: 4 },
  value: { mutations: valueMutations, weight: 8 },
  text: { mutations: textMutations, weight: 3 },
  bytes: { mutations: byteMutations, weight: 2 },
} as const
type Group = keyof typeof groups
const inOrder = Object.keys(groups) as Group[]

/** Costly ones are rare. */
const rare = new Set(['gzip bomb', 'too large'])

/** The request of this index: the same for the same seed and world. Operations take turns. */
export function generate(seed: number, index: number, world: FuzzFixtures): GeneratedRequest {
  const random = seededRandom(seed, index)
  const operation = world.operations[index % world.operations.length]!
  const draft = buildValidRequest(operation, random, world)
  const chosen = chooseMutations(draft.json !== undefined, draft.text !== undefined, random)
  const apply = (...names: Group[]) => {
    for (const { group, name, mutation } of chosen) {
      if (!names.includes(group)) continue
      mutation(draft, random, world)
      draft.mutations.push(name)
    }
  }
  apply('access', 'headers', 'address', 'value')
  if (draft.json !== undefined) draft.text = JSON.stringify(draft.json)
  apply('text')
  if (draft.text !== undefined) draft.bytes = Buffer.from(draft.text)
  apply('bytes')
  const request: GeneratedRequest = { ...finished(draft), index }
  return random.chance(0.05) ? sendMalformed(request, random) : request
}

interface Choice {
  group: Group
  name: string
  mutation: Mutation
}

function chooseMutations(isJson: boolean, isText: boolean, random: Random): Choice[] {
  // A tenth goes out as it is, so that what is right is still taken between all that is wrong.
  const count = random.pick([0, 1, 1, 1, 1, 1, 1, 2, 2, 3])
  const possible = inOrder.filter((group) => (group === 'value' ? isJson : group === 'text' ? isJson || isText : true))
  // A body where none belongs is worth a try, but not half of all.
  const weightOf = (group: Group) => (group === 'bytes' && !isJson && !isText ? 1 : groups[group].weight)
  const tickets = possible.flatMap((group) => Array<Group>(weightOf(group)).fill(group))
  const choices = Array.from({ length: count }, () => {
    const group = random.pick(tickets)
    const mutations: Record<string, Mutation> = groups[group].mutations
    const names = Object.keys(mutations)
    const name = random.pick(random.chance(0.05) ? names : names.filter((each) => !rare.has(each)))
    return { group, name, mutation: mutations[name]! }
  })
  return choices.sort((a, b) => inOrder.indexOf(a.group) - inOrder.indexOf(b.group))
}
