"""A Ray cluster as a crew: jobs travel to its nodes with their files, and are done there as they are here."""

from trifold.cluster.cluster import Cluster, join_cluster

__all__ = ["Cluster", "join_cluster"]
