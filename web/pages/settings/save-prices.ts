import { type ApiResponse, hub } from '../../api/api-client.ts'
import { queryClient } from '../../api/query-client.ts'
import { formatTime } from '../../ui/time-text.tsx'

type Price = ApiResponse<'getPrices'>['prices'][number]

/** Signals that the list changed since it was shown, and that nothing was saved. Contains the reason and the fix. */
export class PriceConflict extends Error {
  override readonly name = 'PriceConflict'
}

/** Returns the identity of an entry of the list. The same time may be written in several ways. */
export function priceId({ llm_platform = '', llm_model, effective_from }: Price): string {
  return JSON.stringify([llm_platform, llm_model, Date.parse(effective_from)])
}

/**
 * Changes one entry of the list of prices. The Hub replaces the list as a whole, so this reads it again first:
 * concurrent changes stay.
 *
 * @throws PriceConflict if the entry to change has changed meanwhile, or the new one already exists; HubProblem if the
 * Hub refuses
 */
export async function savePrices({ add, remove }: { add?: Price; remove?: Price | undefined }): Promise<void> {
  const { data } = await hub.GET('/api/v1/telemetry/prices', {})
  const now = data?.prices ?? []
  const kept = remove ? now.filter((price) => priceId(price) !== priceId(remove)) : [...now]
  const found = remove && now.find((price) => priceId(price) === priceId(remove))
  if (remove && JSON.stringify(found) !== JSON.stringify(remove)) {
    await refreshPrices()
    throw new PriceConflict(
      `Somebody ${found ? 'changed' : 'removed'} this price in the meantime. The list shows the current price: close this dialog, review it, and start again.`,
    )
  }
  const twin = add && kept.find((price) => priceId(price) === priceId(add))
  if (twin) {
    throw new PriceConflict(
      `There is a price of ${twin.llm_model} already that begins at ${formatTime(twin.effective_from)}${twin.llm_platform ? ` on ${twin.llm_platform}` : ''}. Change that one, or let this one begin at another time.`,
    )
  }
  await hub.PUT('/api/v1/telemetry/prices', { body: { prices: add ? [...kept, add] : kept } })
  await refreshPrices()
}

function refreshPrices(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/telemetry/prices'] })
}
