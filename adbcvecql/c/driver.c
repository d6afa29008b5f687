// SPDX-License-Identifier: Apache-2.0

//go:build driverlib

// The entry point of the library: the table of the driver's functions, which are written in Go. The structs of databases,
// connections and statements begin with private_data, so that one function serves all three where they do the same.

#include "_cgo_export.h"
#include "driver.h"

void vecqlReleaseError(struct AdbcError* error) {
  free(error->message);
  error->message = NULL;
  error->release = NULL;
}

void vecqlReleasePartitions(struct AdbcPartitions* partitions) {
  for (size_t i = 0; i < partitions->num_partitions; i++) {
    free((void*)partitions->partitions[i]);
  }
  free((void*)partitions->partitions);
  free((void*)partitions->partition_lengths);
  memset(partitions, 0, sizeof(*partitions));
}

static AdbcStatusCode releaseDriver(struct AdbcDriver* driver, struct AdbcError* error) {
  driver->release = NULL;
  return ADBC_STATUS_OK;
}

static int errorGetDetailCount(const struct AdbcError* error) { return 0; }

static struct AdbcErrorDetail errorGetDetail(const struct AdbcError* error, int index) {
  struct AdbcErrorDetail none = {NULL, NULL, 0};
  return none;
}

#define SET(name, function) driver->name = (void*)(function)
#define SET_OPTIONS(kind)                                 \
  SET(kind##GetOption, vecqlGetOption);                   \
  SET(kind##GetOptionBytes, vecqlGetOptionBytes);         \
  SET(kind##GetOptionDouble, vecqlGetOptionDouble);       \
  SET(kind##GetOptionInt, vecqlGetOptionInt);             \
  SET(kind##SetOptionBytes, vecqlSetOptionBytes);         \
  SET(kind##SetOptionDouble, vecqlSetOptionDouble);       \
  SET(kind##SetOptionInt, vecqlSetOptionInt)

static void setVersion100(struct AdbcDriver* driver) {
  SET(release, releaseDriver);
  SET(DatabaseNew, vecqlDatabaseNew);
  SET(DatabaseInit, vecqlDatabaseInit);
  SET(DatabaseSetOption, vecqlSetOption);
  SET(DatabaseRelease, vecqlRelease);
  SET(ConnectionNew, vecqlConnectionNew);
  SET(ConnectionInit, vecqlConnectionInit);
  SET(ConnectionSetOption, vecqlSetOption);
  SET(ConnectionRelease, vecqlRelease);
  SET(ConnectionCommit, vecqlConnectionCommit);
  SET(ConnectionRollback, vecqlConnectionRollback);
  SET(ConnectionGetInfo, vecqlConnectionGetInfo);
  SET(ConnectionGetObjects, vecqlConnectionGetObjects);
  SET(ConnectionGetTableSchema, vecqlConnectionGetTableSchema);
  SET(ConnectionGetTableTypes, vecqlConnectionGetTableTypes);
  SET(ConnectionReadPartition, vecqlConnectionReadPartition);
  SET(StatementNew, vecqlStatementNew);
  SET(StatementSetOption, vecqlSetOption);
  SET(StatementRelease, vecqlRelease);
  SET(StatementSetSqlQuery, vecqlStatementSetSqlQuery);
  SET(StatementSetSubstraitPlan, vecqlStatementSetSubstraitPlan);
  SET(StatementPrepare, vecqlStatementPrepare);
  SET(StatementBind, vecqlStatementBind);
  SET(StatementBindStream, vecqlStatementBindStream);
  SET(StatementExecuteQuery, vecqlStatementExecuteQuery);
  SET(StatementExecutePartitions, vecqlStatementExecutePartitions);
  SET(StatementGetParameterSchema, vecqlStatementGetParameterSchema);
}

static void setVersion110(struct AdbcDriver* driver) {
  SET_OPTIONS(Database);
  SET_OPTIONS(Connection);
  SET_OPTIONS(Statement);
  SET(ConnectionCancel, vecqlCancel);
  SET(ConnectionGetStatistics, vecqlConnectionGetStatistics);
  SET(ConnectionGetStatisticNames, vecqlConnectionGetStatisticNames);
  SET(StatementCancel, vecqlCancel);
  SET(StatementExecuteSchema, vecqlStatementExecuteSchema);
  SET(ErrorGetDetailCount, errorGetDetailCount);
  SET(ErrorGetDetail, errorGetDetail);
  SET(ErrorFromArrayStream, vecqlErrorFromArrayStream);
}

ADBC_EXPORT AdbcStatusCode AdbcDriverInit(int version, void* raw_driver, struct AdbcError* error) {
  struct AdbcDriver* driver = raw_driver;
  if (version != ADBC_VERSION_1_0_0 && version != ADBC_VERSION_1_1_0) {
    return ADBC_STATUS_NOT_IMPLEMENTED;
  }
  memset(driver, 0, version == ADBC_VERSION_1_0_0 ? ADBC_DRIVER_1_0_0_SIZE : ADBC_DRIVER_1_1_0_SIZE);
  setVersion100(driver);
  if (version == ADBC_VERSION_1_1_0) {
    setVersion110(driver);
  }
  return ADBC_STATUS_OK;
}

ADBC_EXPORT AdbcStatusCode AdbcVecqlInit(int version, void* raw_driver, struct AdbcError* error) {
  return AdbcDriverInit(version, raw_driver, error);
}
