import { Button } from '@mantine/core'
import { IconBookmark } from '@tabler/icons-react'

/** The width of the saved-views button: if it will show a name, it reserves the space from the beginning. */
export const viewsWidth = (viewId: string | undefined) => (viewId === undefined ? undefined : '14rem')

/** Shows a placeholder for saved views while their script loads. */
export function ViewsSkeleton({ viewId }: { viewId: string | undefined }) {
  return (
    <Button variant="default" disabled leftSection={<IconBookmark size={16} />} w={viewsWidth(viewId)}>
      Views
    </Button>
  )
}
