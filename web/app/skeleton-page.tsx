import { Skeleton, Stack } from '@mantine/core'
import { SkeletonLines } from '../components/query-boundary.tsx'

/** While the script of a page is on its way. */
export function SkeletonPage() {
  return (
    <Stack aria-busy="true">
      <Skeleton height={32} width="16rem" />
      <SkeletonLines lines={8} />
    </Stack>
  )
}
