import { type ApiResponse, hub } from '../../api/api-client.ts'
import { HubProblem } from '../../api/problem.ts'
import { queryClient } from '../../api/query-client.ts'
import { formatTime } from '../../ui/time-text.tsx'

export const pricesPath = '/api/v1/telemetry/prices'

type Price = ApiResponse<'getPrices'>['prices'][number]

/** Returns the refusal of a change, with the reason and the fix. */
const conflict = (detail: string) => new HubProblem(409, { detail })

/** Returns the identity of an entry of the list. The same time may be written in several ways. */
export function priceId({ llm_platform = '', llm_model, effective_from }: Price): string {
  return JSON.stringify([llm_platform, llm_model, Date.parse(effective_from)])
}

/**
 * Changes one entry of the list of prices. The Hub replaces the list as a whole, so this reads it again first:
 * concurrent changes stay.
 *
 * @throws HubProblem if the entry to change has changed meanwhile, or the new one already exists, or if the Hub
 * refuses
 */
export async function savePrices({ add, remove }: { add?: Price; remove?: Price | undefined }): Promise<void> {
  const { data } = await hub.GET(pricesPath, {})
  const now = data?.prices ?? []
  const kept = remove ? now.filter((price) => priceId(price) !== priceId(remove)) : [...now]
  const found = remove && now.find((price) => priceId(price) === priceId(remove))
  if (remove && JSON.stringify(found) !== JSON.stringify(remove)) {
    await queryClient.invalidateQueries({ queryKey: ['get', pricesPath] })
    throw conflict(
      `Somebody ${found ? 'changed' : 'removed'} this price in the meantime. The list shows the current price: close this dialog, review it, and start again.`,
    )
  }
  const twin = add && kept.find((price) => priceId(price) === priceId(add))
  if (twin) {
    throw conflict(
      `There is a price of ${twin.llm_model} already that begins at ${formatTime(twin.effective_from)}${twin.llm_platform ? ` on ${twin.llm_platform}` : ''}. Change that one, or let this one begin at another time.`,
    )
  }
  await hub.PUT(pricesPath, { body: { prices: add ? [...kept, add] : kept } })
}
