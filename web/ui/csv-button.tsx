import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'

interface CsvButtonProps {
  /** The name of the export: "Breakdown". */
  label: string
  /** Absent while there is no data to save. */
  save: (() => Promise<void>) | undefined
}

/** Saves the values of a table as a file. */
export function CsvButton({ label, save }: CsvButtonProps) {
  const saving = useMutation({ mutationFn: (save: () => Promise<void>) => save() })
  const failed = saving.isError
  const words = failed ? 'CSV: did not work, try again' : 'CSV'
  return (
    <Button
      size="xs"
      variant="default"
      color={failed ? 'red' : undefined}
      leftSection={<IconDownload size={14} />}
      loading={saving.isPending}
      disabled={!save}
      aria-label={`Export ${label} as ${words}`}
      onClick={() => save && saving.mutate(save)}
    >
      {words}
    </Button>
  )
}
