# SPDX-License-Identifier: Apache-2.0

"""DB-API 2.0: see adbc_driver_vecql.dbapi."""

from adbc_driver_vecql.dbapi import *  # noqa: F403
