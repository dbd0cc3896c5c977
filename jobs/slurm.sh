#!/bin/sh
# A job on a cluster of Slurm: every task of the array does its share of the parts, and the last step joins them.
# Usage: N=16; first=$(sbatch --parsable --array=0-$((N - 1)) jobs/slurm.sh JOB.toml RUN)
#        sbatch --dependency=afterok:"$first" --wrap "condenser finish RUN"
# A task that was killed is begun again by Slurm and goes on from what it had committed. RUN is on a file system that all see.
#SBATCH --job-name=condenser
#SBATCH --cpus-per-task=8
#SBATCH --mem=4G
#SBATCH --requeue
set -eu
exec condenser run "$1" --output "$2" --threads "${SLURM_CPUS_PER_TASK:-1}" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
