import { Skeleton, Stack } from '@mantine/core'
import { SkeletonLines } from '../components/query-boundary.tsx'

/** Shows a placeholder while the script of a page loads. */
export function SkeletonPage() {
  return (
    <Stack aria-busy="true">
      <Skeleton height={32} width="16rem" />
      <SkeletonLines lines={8} />
    </Stack>
  )
}
