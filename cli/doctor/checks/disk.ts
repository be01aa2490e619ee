import type { Config } from '../../../server/config.ts'
import { createDiskSpace, type FreeBytes } from '../../../server/storage/disk-space.ts'
import { type Finding, ok, problem, warning } from '../finding.ts'

const mebibyte = 1024 * 1024
/** Times the floor: with less, an operator should act before the floor is reached. */
const warningFactor = 4

/** Checks the free space of the disks that the service writes to. */
export async function checkDisks(config: Config, freeBytes: FreeBytes | undefined): Promise<Finding[]> {
  const space = createDiskSpace(config, freeBytes)
  const places = Object.entries(await space.free()) as [string, number][]
  if (places.length === 0) return [ok('disk', 'The Hub writes to no disk of this machine.')]
  return places.map(([place, bytes]) => {
    const detail = `${place}: ${Math.floor(bytes / mebibyte).toLocaleString('en-US')} MiB are free.`
    const action = 'Free space, or enlarge the disk: exports and backups are refused below HUB_DISK_FREE_MIN_MB.'
    if (bytes < space.floorBytes) return problem('disk', detail, action)
    if (bytes < warningFactor * space.floorBytes) return warning('disk', detail, action)
    return ok('disk', detail)
  })
}
