import fc from 'fast-check'
import {
  answer,
  answerAfter,
  type Behaviour,
  closeAtOnce,
  closeInBody,
  closeInHead,
  hang,
  notHttp,
  redirectTo,
  resetAtOnce,
  streamForever,
  take,
} from './receiver-behaviours.ts'

/** By name, so that what failed can be read. */
export const behaviours: Readonly<Record<string, Behaviour>> = {
  take,
  'take late': answerAfter(30),
  'take without a body': answer(204),
  'take, close in the body': closeInBody,
  'take, stream forever': streamForever,
  'answer 500': answer(500),
  'answer 503, wait an hour': answer(503, { 'retry-after': '3600' }),
  'answer 429': answer(429),
  'answer 410': answer(410),
  redirect: redirectTo('http://127.0.0.1:9/'),
  hang,
  close: closeAtOnce,
  reset: resetAtOnce,
  'close in the head': closeInHead,
  'not HTTP': notHttp,
}

/** What may happen to deliveries; `at` and `to` are places of endpoints. */
export type Step =
  | { do: 'tell'; to: number[]; messages: number }
  | { do: 'behave'; at: number; as: string }
  | { do: 'kill' | 'stop and start' | 'start another' | 'cut connections' | 'let time pass' }
  | { do: 'rotate' | 'move' | 'disable' | 'enable'; at: number }
  | { do: 'redeliver'; at: number; status: 'failed' | 'dead' | 'delivered' }
  /** One of the messages that were told: so far down their list, from 0 to 1. */
  | { do: 'erase'; which: number }
  | { do: 'wait'; ms: number }

/** For so many endpoints, of which the last one always behaves the same. */
export function anySteps(endpoints: number): fc.Arbitrary<Step[]> {
  const at = fc.nat({ max: endpoints - 1 })
  const messages = fc.integer({ min: 1, max: 6 })
  const to = fc.uniqueArray(at, { minLength: 1 })
  // Plain objects, which are printed so.
  const record = <T extends object>(parts: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
    fc.record<T>(parts, { noNullPrototype: true })
  const weighted = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary })
  const step = fc.oneof(
    weighted(8, record({ do: fc.constant('tell'), to, messages })),
    weighted(
      6,
      record({
        do: fc.constant('behave'),
        at: fc.nat({ max: endpoints - 2 }),
        as: fc.constantFrom(...Object.keys(behaviours)),
      }),
    ),
    weighted(
      8,
      record({ do: fc.constantFrom('kill', 'stop and start', 'start another', 'cut connections', 'let time pass') }),
    ),
    weighted(6, record({ do: fc.constantFrom('rotate', 'move', 'disable', 'enable', 'enable'), at })),
    weighted(3, record({ do: fc.constant('redeliver'), at, status: fc.constantFrom('failed', 'dead', 'delivered') })),
    weighted(2, record({ do: fc.constant('erase'), which: fc.double({ min: 0, max: 0.999, noNaN: true }) })),
    weighted(4, record({ do: fc.constant('wait'), ms: fc.integer({ min: 1, max: 80 }) })),
  )
  return fc.array(step, { minLength: 5, maxLength: 30 })
}
